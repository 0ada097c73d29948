/** A queue of groups that take turns (round-robin); each group is first in, first out. */
export class FairQueue<Item> {
  readonly #groups = new Map<string, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of waiting items of a group. */
  sizeOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  add(group: string, item: Item): void {
    const members = this.#groups.get(group);
    if (members === undefined) this.#groups.set(group, new Set([item]));
    else members.add(item);
    this.#size += 1;
  }

  /** Removes an item that stopped waiting. */
  delete(group: string, item: Item): void {
    const members = this.#groups.get(group);
    if (members?.delete(item) !== true) return;
    this.#size -= 1;
    if (members.size === 0) this.#groups.delete(group);
  }

  /**
   * Removes and returns the next item.
   * @param isEligible asked with the group's first item; ineligible groups keep their turn
   */
  next(isEligible: (group: string, first: Item) => boolean = () => true): Item | undefined {
    for (const [group, members] of this.#groups) {
      const [item] = members;
      if (!isEligible(group, item as Item)) continue;
      this.#groups.delete(group);
      members.delete(item as Item);
      this.#size -= 1;
      if (members.size > 0) this.#groups.set(group, members);
      return item;
    }
    return undefined;
  }
}
