/** Whether a text has more characters than allowed: by Unicode code points, as JSON Schema and the contract count. */
export function isLonger(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}
