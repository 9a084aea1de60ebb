// What a page's script says: sentences that the server translated, in the page's #words, with names in braces.

export const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");
export const say = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
export const announce = (text) => (document.getElementById("announcement").textContent = text);
