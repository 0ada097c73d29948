/** Escapes that PostgreSQL's JSON rejects: NUL and unpaired surrogates. */
const unstorable = /(?<=(?<!\\)(?:\\\\)*)\\u(?:(0000)|d[89a-f][0-9a-f]{2})/g;

/**
 * Makes untrusted JSON storable in PostgreSQL.
 * @param json output of `JSON.stringify`
 */
export function storableJson(json: string): string {
  if (!json.includes('\\u')) return json;
  return json.replace(unstorable, (_, nul?: string) => (nul === undefined ? '\ufffd' : ''));
}
