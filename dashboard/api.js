// Requests to the server that this page came from, and what may become of them.

/** Why there is no answer. `kind` decides what the page does; `text` is for people. */
export class ApiError extends Error {
    constructor(kind, text, { status = 0, code = null, retryAfter = null } = {}) {
        super(text);
        Object.assign(this, { kind, text, status, code, retryAfter });
    }
}

const deadline = 20_000;
const longestWait = 300;

export class Api {
    #token;
    #base;

    /** `base` ends with a slash: the page may be served under a path of a proxy. */
    constructor(token, base = new URL("./", document.baseURI)) {
        this.#token = token;
        this.#base = base;
    }

    /** The JSON of an answer; throws `ApiError`, or the signal's reason when it is aborted. */
    async get(path, query = {}, signal = undefined) {
        const url = new URL(`v1/${path}`, this.#base);
        for (const [key, value] of Object.entries(query)) {
            if (value !== null && value !== undefined) url.searchParams.set(key, value);
        }
        const limit = AbortSignal.timeout(deadline);
        let response;
        try {
            response = await fetch(url, {
                headers: { Authorization: `Bearer ${this.#token}`, Accept: "application/json" },
                cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
                signal: signal ? AbortSignal.any([signal, limit]) : limit,
            });
            return await read(response);
        } catch (error) {
            signal?.throwIfAborted();
            if (error instanceof ApiError) throw error;
            if (limit.aborted) throw new ApiError("slow", `The server did not answer within ${deadline / 1000} seconds.`);
            throw new ApiError("unreachable", "The server can't be reached.");
        }
    }
}

async function read(response) {
    const text = await response.text();
    let body;
    try {
        body = JSON.parse(text);
    } catch {
        body = null;
    }
    if (response.ok) {
        if (body !== null && typeof body === "object") return body;
        throw new ApiError("odd", "What answered is not a Bandferry server: a proxy, or the sign-in page of a network?");
    }
    const code = body?.error?.code ?? null;
    const details = { status: response.status, code, retryAfter: waiting(response) };
    if (response.status === 401) throw new ApiError("refused", "The server does not accept this token.", details);
    if (response.status === 403) throw new ApiError("refused", "This token may not read.", details);
    if (response.status === 429) {
        const wait = details.retryAfter ?? 60;
        throw new ApiError("limited", `The server asks to wait ${wait} seconds: there were too many requests.`, details);
    }
    if (response.status >= 500) {
        const said = body?.error?.message;
        throw new ApiError("failing", `The server can't answer now (${response.status}${said ? `: ${said}` : ""}).`, details);
    }
    if (code === null) {
        throw new ApiError("odd", `What answered (status ${response.status}) is not a Bandferry server.`, details);
    }
    throw new ApiError("rejected", `The server did not take a request of this page: ${body.error.message}.`, details);
}

/** Seconds of `Retry-After`, bounded; null when it is not given in seconds. */
function waiting(response) {
    const text = response.headers.get("Retry-After") ?? "";
    return /^\d+$/.test(text) ? Math.min(Number(text), longestWait) : null;
}
