import { TextInput, type TextInputProps } from '@mantine/core';
import { createContext, useContext } from 'react';
import { reasonFor } from '../api/problem.ts';

interface FieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'error' | 'name'> {
  /** The request member this field sets. */
  field: string;
  /** The error of the request, shown next to the field if it concerns it. Default: that of the dialog. */
  error?: unknown;
  value: string;
  change: (value: string) => void;
}

/** The error of the request that a dialog sends. */
export const DialogError = createContext<unknown>(null);

/** A single-line text field for a request member. */
export function Field({ field, error, change, ...input }: FieldProps) {
  const dialogError = useContext(DialogError);
  return (
    <TextInput
      {...input}
      error={reasonFor(error ?? dialogError, field)}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** A field for an id in the API's format. */
export function IdField(props: FieldProps) {
  return <Field required pattern="[A-Za-z0-9_\-]{1,64}" {...props} />;
}
