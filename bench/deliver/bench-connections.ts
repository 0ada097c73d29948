import { availableParallelism } from 'node:os';

/** As many as `serve` starts. */
export const processes = availableParallelism();

/** To the sink, of each side together; the service's processes share them. */
export const connections = 20 * processes;
