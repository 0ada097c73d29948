/** The options of a select for these values. */
export function choicesOf<Value extends string | number>(
  values: readonly Value[],
  nameOf: (value: Value) => string,
) {
  return values.map((value) => ({ value: String(value), label: nameOf(value) }));
}
