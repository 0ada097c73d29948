/** Something that the caller of the command can fix; the message is one sentence without its period. */
export class TypesFailure extends Error {
  override name = 'TypesFailure';
}
