// Runs before the first paint, so that nobody sees the other theme flash by. The choice is no secret and outlives the tab.
"use strict";

(() => {
    const key = "bandferry.theme";
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const read = () => {
        try {
            return localStorage.getItem(key);
        } catch {
            return null;
        }
    };
    let choice = read() ?? "system";
    const apply = () => {
        document.documentElement.dataset.theme = choice === "light" || choice === "dark" ? choice : dark.matches ? "dark" : "light";
        dispatchEvent(new Event("themechange"));
    };
    apply();
    dark.addEventListener("change", apply);
    globalThis.bandferryTheme = {
        get choice() { return choice; },
        set choice(value) {
            choice = value;
            try {
                if (value === "system") localStorage.removeItem(key);
                else localStorage.setItem(key, value);
            } catch { /* It holds for this page only. */ }
            apply();
        },
    };
})();
