/** A schema's value before JSON serialization: times may still be `Date` objects. */
export type Wire<Value> = Value extends string
  ? Value | (string extends Value ? Date : never)
  : Value extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Wire<Value[Name]> }
      : Value;
