/** Max messages of the demo data. */
export const maxDemoMessages = 100_000;
