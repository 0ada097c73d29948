import { TextInput, type TextInputProps } from '@mantine/core';
import { reasonFor } from '../api/problem.ts';

interface FieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'error' | 'name'> {
  /** The member of the request that it fills. */
  field: string;
  /** Of the request; says beside the field what is wrong with it. */
  error: unknown;
  value: string;
  change: (value: string) => void;
}

/** A line of text that is a member of a request. */
export function Field({ field, error, change, ...input }: FieldProps) {
  return (
    <TextInput
      {...input}
      error={reasonFor(error, field)}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** An id that a person chooses, as the API takes it. */
export function IdField(props: FieldProps) {
  return <Field required pattern="[A-Za-z0-9_\-]{1,64}" {...props} />;
}
