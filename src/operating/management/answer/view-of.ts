import type { Static, TObject, TProperties } from 'typebox';
import type { Wire } from '../../../base/values/wire.ts';

/** What has the members of a view, and maybe more; those that can be null may be missing. */
type Viewable<View> = {
  readonly [Name in keyof View as null extends View[Name] ? never : Name]: Wire<View[Name]>;
} & {
  readonly [Name in keyof View as null extends View[Name] ? Name : never]?:
    | Wire<View[Name]>
    | undefined;
};

/** The members of a view as the source has them. */
type Viewed<View, Source> = {
  readonly [Name in keyof View]: Name extends keyof Source
    ? Exclude<Source[Name], undefined> | (undefined extends Source[Name] ? null : never)
    : null;
};

/** Picks the members of a view; those that are missing are null. */
export function viewOf<Members extends TProperties>(view: TObject<Members>) {
  type View = Static<TObject<Members>>;
  const names = Object.keys(view.properties);
  return <const Source extends Viewable<View>>(source: Source): Viewed<View, Source> => {
    const members = new Map<string, unknown>(Object.entries(source));
    const shown = names.map((name) => [name, members.get(name) ?? null]);
    return Object.fromEntries(shown);
  };
}
