/** What a value of a schema is before JSON writes it: times are written by JSON itself. */
export type Wire<Value> = Value extends string
  ? Value | (string extends Value ? Date : never)
  : Value extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Wire<Value[Name]> }
      : Value;
