import { TextInput, type TextInputProps } from '@mantine/core';
import { reasonFor } from '../api/problem.ts';

interface FieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'error' | 'name'> {
  /** The request member this field sets. */
  field: string;
  /** The error of the request; shown next to the field if it concerns it. */
  error: unknown;
  value: string;
  change: (value: string) => void;
}

/** A single-line text field for a request member. */
export function Field({ field, error, change, ...input }: FieldProps) {
  return (
    <TextInput
      {...input}
      error={reasonFor(error, field)}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** A field for an id in the API's format. */
export function IdField(props: FieldProps) {
  return <Field required pattern="[A-Za-z0-9_\-]{1,64}" {...props} />;
}
