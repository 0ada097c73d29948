import { lazyRouteComponent } from '@tanstack/react-router';

/** A script of the console couldn't be loaded because the service is unreachable. */
export class ScriptLoadError extends Error {
  override readonly name = 'ScriptLoadError';
  /** Retries loading. Rendering the component shows whether it succeeded. */
  readonly retryLoad: () => Promise<void>;

  constructor(cause: unknown, retryLoad: () => Promise<void>) {
    super('a script of the console could not be loaded', { cause });
    this.retryLoad = retryLoad;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the components of a module take different props; the router's type is the same
export type Components = Record<string, any>;

/**
 * A lazily loaded component.
 *
 * If its script is missing because the service was updated, the router reloads the page. If the service is unreachable,
 * reloading would lose the input, so the component throws ScriptLoadError and its parent offers a retry.
 */
export function lazyComponent<Module extends Components, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  let failures = 0;
  const component = lazyRouteComponent(async (): Promise<Module> => {
    try {
      return await load();
    } catch (error) {
      const again = failures > 0 ? await loadFromAlternateUrl<Module>(error, failures) : undefined;
      if (again !== undefined) return again;
      failures += 1;
      if (await isServiceReachable()) throw error;
      throw new ScriptLoadError(error, async () => component.preload?.());
    }
  }, name);
  return component;
}

/**
 * Browsers cache failed module loads, so the retry uses a different URL.
 * @returns undefined if the error contains no URL, as in Safari, or the script is still missing
 */
async function loadFromAlternateUrl<Module>(
  error: unknown,
  attempt: number,
): Promise<Module | undefined> {
  const address = /https?:\/\/\S+\.js/.exec(String(error))?.[0];
  if (address === undefined) return undefined;
  try {
    return (await import(/* @vite-ignore */ `${address}?attempt=${attempt}`)) as Module;
  } catch {
    return undefined;
  }
}

async function isServiceReachable(): Promise<boolean> {
  try {
    // Checks the page instead of `/healthz`, because a proxy may only expose the console's paths.
    const { ok } = await fetch('/console/', { method: 'HEAD', cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}
