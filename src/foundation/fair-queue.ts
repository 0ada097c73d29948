/** A line of those who wait, in groups that take turns; within its group, who came first is first. */
export class FairQueue<Item> {
  readonly #groups = new Map<string, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many of a group wait. */
  sizeOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  add(group: string, item: Item): void {
    const members = this.#groups.get(group);
    if (members === undefined) this.#groups.set(group, new Set([item]));
    else members.add(item);
    this.#size += 1;
  }

  /** Takes one who does not want to wait any longer out of the line. */
  delete(group: string, item: Item): void {
    const members = this.#groups.get(group);
    if (members?.delete(item) !== true) return;
    this.#size -= 1;
    if (members.size === 0) this.#groups.delete(group);
  }

  /**
   * Takes the one whose turn it is out of the line.
   * @param isEligible groups that it refuses keep their turn
   */
  next(isEligible: (group: string) => boolean = () => true): Item | undefined {
    for (const [group, members] of this.#groups) {
      if (!isEligible(group)) continue;
      const [item] = members;
      this.#groups.delete(group);
      members.delete(item as Item);
      this.#size -= 1;
      if (members.size > 0) this.#groups.set(group, members);
      return item;
    }
    return undefined;
  }
}
