/** One property of a value of any kind; undefined if it has none of this name. */
export const propertyIn = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

/** Tests for one of these values. */
export const isItemIn = <Item>(items: readonly Item[], value: unknown): value is Item =>
  items.some((item) => item === value);

/** Tests for the name of an own property. */
export const isKeyIn = <Item extends object>(record: Item, name: PropertyKey | undefined): name is keyof Item =>
  name !== undefined && Object.hasOwn(record, name);

/** The names of the properties of an object that has no others than its type. */
export const keysIn = <Item extends object>(record: Item): (keyof Item & string)[] =>
  Object.keys(record).filter((name): name is keyof Item & string => isKeyIn(record, name));
