import { Suspense } from 'react';
import { lazyComponent } from '../components/lazy-component.ts';
import { usePendingConfirmation } from './pending-confirmation.ts';

const Dialog = lazyComponent(() => import('./confirmation-dialog.tsx'), 'ConfirmationDialog');

/** The dialog for a sensitive change, if one waits. */
export function ConfirmationHost() {
  const pending = usePendingConfirmation();
  if (pending === undefined) return null;
  return (
    <Suspense>
      <Dialog pending={pending} />
    </Suspense>
  );
}
