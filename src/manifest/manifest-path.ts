/** A path in a manifest: member names and list indexes from the top. */
export type ManifestPath = readonly (string | number)[];

/** Formats a path, such as `accounts[0].senders[1].address`; unusual names are quoted. */
export function formatPath(path: ManifestPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[$\w]+$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
