import type { FaultDetail } from '../../base/values/errors.ts';

/** Where a value of a request is, for what is wrong with it. */
export class Place {
  /** As errors name it: `attachments[0].filename`. */
  readonly field: string;
  readonly details: FaultDetail[];

  /** @param details gets the problems */
  constructor(field: string, details: FaultDetail[]) {
    this.field = field;
    this.details = details;
  }

  /** A place in this one. @param more such as `[0]` or `.name` */
  at(more: string): Place {
    return new Place(this.field + more, this.details);
  }

  /** Adds a problem. @param more of its place */
  refuse(reason: string, more = ''): void {
    this.details.push({ field: this.field + more, reason });
  }
}
