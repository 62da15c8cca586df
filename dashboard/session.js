// The token lives as long as its tab, and nowhere else: not in a URL, a cookie or a store that outlives the tab.

const key = "bandferry.token";

export const token = () => sessionStorage.getItem(key);

export const keep = (text) => sessionStorage.setItem(key, text);

export const forget = () => sessionStorage.removeItem(key);

/** A token as it was typed or pasted, without what came along; null when it can't be one. */
export function cleaned(text) {
    const token = text.trim().replace(/^Bearer\s+/i, "");
    return /^[\x21-\x7e]+$/.test(token) ? token : null;
}
