/**
 * True for V8's stack overflow error. HTML parsers and serializers recurse once per nesting level, so this is how a
 * document that is nested too deeply shows up.
 */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}
