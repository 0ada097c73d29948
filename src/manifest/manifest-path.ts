/** Where something stands in a manifest: names of members and places in lists, from the top. */
export type ManifestPath = readonly (string | number)[];

/** The path as people write it: `accounts[0].senders[1].address`, odd names in quotes. */
export function formatPath(path: ManifestPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[$\w]+$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
