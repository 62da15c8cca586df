// Elements are built, never written as markup: no text from the server can become anything but text.

/**
 * An element: `el("p.note", { id: "x", onclick }, "text", child, null)`. Classes stand after dots. A function is a listener, true
 * an attribute without value, null and false none.
 */
export function el(tag, ...rest) {
    const [name, ...classes] = tag.split(".");
    const node = document.createElement(name);
    if (classes.length > 0) node.className = classes.join(" ");
    return fill(node, rest);
}

const drawings = "http://www.w3.org/2000/svg";

export function svg(tag, ...rest) {
    return fill(document.createElementNS(drawings, tag), rest);
}

function fill(node, rest) {
    const isNode = (value) => value instanceof Node;
    let children = rest;
    if (rest[0] !== null && typeof rest[0] === "object" && !isNode(rest[0]) && !Array.isArray(rest[0])) {
        for (const [key, value] of Object.entries(rest[0])) set(node, key, value);
        children = rest.slice(1);
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return node;
}

function set(node, key, value) {
    if (typeof value === "function") node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
}

/** A table with a caption that only a screen reader needs, a header a column and one a row. */
export function table({ id, caption, columns, rows }) {
    return el("div.scroller", { id, tabindex: "0", role: "region", "aria-label": caption },
        el("table",
            el("caption.unseen", caption),
            el("thead", el("tr", columns.map((column) => el("th", { scope: "col" }, column)))),
            el("tbody", rows.map(([first, ...others]) => el("tr",
                el("th", { scope: "row" }, first), others.map((cell) => el("td", cell)))))));
}
