import { lazyRouteComponent } from '@tanstack/react-router';

/** A part of the console whose script could not be loaded, as the service is away. */
export class ScriptLoadError extends Error {
  override readonly name = 'ScriptMissing';
  /** Asks for the script again. Whether it came shows when the part is drawn. */
  readonly retryLoad: () => Promise<void>;

  constructor(cause: unknown, retryLoad: () => Promise<void>) {
    super('the script of this part could not be loaded', { cause });
    this.retryLoad = retryLoad;
  }
}

/**
 * A part whose script is loaded when it is first needed.
 *
 * A script is missing for one of two reasons. The service has a newer console, whose scripts have other names: the router
 * loads the page anew. Or the service is away: that would leave the person with the browser's own page about it and without
 * what was typed, so the part throws ScriptMissing instead, for whoever stands around it to offer to try again.
 */
export function lazyComponent<
  // biome-ignore lint/suspicious/noExplicitAny: the components of a module differ in what they take, as the router says too
  Module extends Record<string, any>,
  Name extends keyof Module,
>(load: () => Promise<Module>, name: Name) {
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
 * Browsers remember that a script could not be loaded and don't ask for it again, so it is loaded by another address.
 * @returns undefined where the error names no address, as in Safari, or the script is still missing
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
    // The page itself, and not `/healthz`: what stands before the service may let the console's addresses alone pass.
    const { ok } = await fetch('/console/', { method: 'HEAD', cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}
