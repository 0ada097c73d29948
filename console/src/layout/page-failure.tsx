import { ScriptLoadError } from '../components/lazy-component.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';

/** Shown if a page fails to render, for example because its script couldn't be loaded. */
export function PageFailure({ error, reset }: { error: unknown; reset: () => void }) {
  async function retry() {
    if (error instanceof ScriptLoadError) await error.retryLoad();
    reset();
  }

  return <ProblemAlert error={error} retry={retry} />;
}
