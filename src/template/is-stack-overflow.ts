/**
 * True for what V8 throws where calls go too deep. Parsers and serialisers of HTML call themselves for each level of
 * nesting, so this is how they say that a document is nested too deeply for them.
 */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}
