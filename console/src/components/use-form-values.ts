import { useState } from 'react';
import { EditConflict } from '../api/if-unchanged.ts';

/**
 * The values of an inline form together with the values it was loaded with, so changes are compared with what the person saw,
 * even if the page reloads its data meanwhile.
 */
export function useFormValues<Values extends object>(first: Values) {
  const [seen, setSeen] = useState(first);
  const [values, setValues] = useState(first);
  return {
    seen,
    values,
    /** Whether the values differ from those that are stored. */
    isChanged: Object.keys(values).some(
      (name) => String(values[name as keyof Values]) !== String(seen[name as keyof Values]),
    ),
    change: (part: Partial<Values>) => setValues({ ...values, ...part }),
    markSaved(now: Values) {
      setSeen(now);
      setValues(now);
    },
    /**
     * Rebases the form after a conflict: untouched fields take the current values, edited ones stay, and saving again overwrites
     * deliberately.
     */
    mergeConflict(error: unknown) {
      if (!(error instanceof EditConflict)) return;
      const changes = error.changes.filter(({ name }) => name in seen);
      const now = Object.fromEntries(changes.map((change) => [change.name, change.now]));
      const untouched = changes.filter(
        ({ name }) => values[name as keyof Values] === seen[name as keyof Values],
      );
      setSeen({ ...seen, ...now });
      setValues({
        ...values,
        ...Object.fromEntries(untouched.map(({ name }) => [name, now[name]])),
      });
    },
  };
}
