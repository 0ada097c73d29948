const SPECIAL = /["&'<>]/;
const SPECIALS = /["&'<>]/g;
const ENTITY: Readonly<Record<string, string>> = {
  '"': '&quot;',
  '&': '&amp;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
};

/** Escapes a value for HTML text and for quoted attributes. */
export function escapeHtml(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replace(SPECIALS, (character) => ENTITY[character] ?? '');
}
