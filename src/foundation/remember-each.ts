/** A function that reads each text once. What it has read lasts as long as the function itself. */
export function rememberEach<Result>(read: (text: string) => Result): (text: string) => Result {
  // Created on demand: many of these functions are never called.
  let known: Map<string, Result> | undefined;
  return (text) => {
    known ??= new Map();
    const result = known.get(text);
    if (result !== undefined || known.has(text)) return result as Result;
    const fresh = read(text);
    known.set(text, fresh);
    return fresh;
  };
}
