import { useState } from 'react';
import { EditConflict } from '../api/if-unchanged.ts';

/**
 * The values of a form that stays on its page, beside what the person has seen of them: the change is held against that,
 * however the page is read again meanwhile.
 */
export function useFormValues<Values extends object>(first: Values) {
  const [seen, setSeen] = useState(first);
  const [values, setValues] = useState(first);
  return {
    seen,
    values,
    change: (part: Partial<Values>) => setValues({ ...values, ...part }),
    markSaved(now: Values) {
      setSeen(now);
      setValues(now);
    },
    /**
     * After a refusal that told what somebody else changed: what the person did not touch becomes as it is now, what was
     * typed stays, and saving once more is a decision about both.
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
