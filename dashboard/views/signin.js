import { cleaned } from "../session.js";

// The form stands in the page; its field has no name, so that nothing could ever submit it.

const find = (id) => document.getElementById(id);

/** `enter(token)` tries a token, and throws `ApiError` when it is not taken. */
export function prepare(enter) {
    const [form, field, show, reason] = ["signin-form", "token", "token-show", "signin-reason"].map(find);
    show.addEventListener("click", () => {
        const visible = field.type === "password";
        field.type = visible ? "text" : "password";
        show.setAttribute("aria-pressed", String(visible));
        show.textContent = visible ? "Hide" : "Show";
    });
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const token = cleaned(field.value);
        if (token === null) return refuse("That is no token: one is a line of letters, digits and signs without spaces.");
        find("signin-go").disabled = true;
        reason.textContent = "";
        try {
            await enter(token);
            field.value = "";
        } catch (error) {
            refuse(error.kind === "refused" ? `${error.text} Is it complete? Was it revoked?` : error.text ?? String(error));
        } finally {
            find("signin-go").disabled = false;
        }
    });
}

function refuse(text) {
    find("signin-reason").textContent = text;
    find("token").setAttribute("aria-invalid", "true");
    find("token").focus();
}

/** Shows the form, with the reason why it is shown. */
export function show(text = "") {
    document.title = "Sign in · Bandferry";
    find("app").hidden = true;
    find("signin").hidden = false;
    find("signin-reason").textContent = text;
    find("token").removeAttribute("aria-invalid");
    find("token").value = "";
    find("token").focus();
}

export function hide() {
    find("signin").hidden = true;
    find("app").hidden = false;
}
