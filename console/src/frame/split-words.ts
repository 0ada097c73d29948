/** The words and fields of a text, and the spaces between them. */
export function splitWords(text: string): string[] {
  return text.split(/(\{\{[^{}]*\}\}|\s+)/).filter((part) => part !== '');
}

/** Whether a part is a word or field. */
export function isWord(part: string): boolean {
  return part.trim() !== '';
}
