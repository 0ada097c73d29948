import { ScriptLoadError } from '../components/lazy-component.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';

/** Stands where a page could not be shown, such as when its script could not be loaded. */
export function PageFailure({ error, reset }: { error: unknown; reset: () => void }) {
  async function retry() {
    if (error instanceof ScriptLoadError) await error.retryLoad();
    reset();
  }

  return <ProblemAlert error={error} retry={retry} />;
}
