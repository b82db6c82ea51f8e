import type { DeletableKind, Kind, Kinds, StoredObject } from './kinds.ts';
import type * as Objects from './objects.ts';
import { missing } from './types.ts';
import { createUndoableMap } from './undoable-map.ts';

export type ObjectStore = ReturnType<typeof createObjectStore>;

/** Stripe's objects, each found by its kind and its id. */
export function createObjectStore() {
  const objects = createUndoableMap<StoredObject>();

  function find<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
    const found = objects.get(id);
    return found && found.object === kind && !('deleted' in found) ? (found as Kinds[K]) : undefined;
  }

  function get<K extends Kind>(kind: K, id: string, param?: string): Kinds[K] {
    const found = find(kind, id);
    if (!found) throw missing(kind.replaceAll('_', ' '), id, param);
    return found;
  }

  return {
    objects,
    find,
    get,
    /** Any object that Stripe would show, including a deleted one. */
    findVisible(id: string) {
      const found = objects.get(id);
      return found && !found.object.startsWith('hidden.') ? (found as unknown as Record<string, unknown>) : undefined;
    },
    /** The object itself, for a change: its earlier state is stored for an undo. */
    edit<K extends Kind>(kind: K, id: string): Kinds[K] {
      const found = get(kind, id);
      objects.remember(id);
      return found;
    },
    put<K extends Kind>(value: Kinds[K] & { object: K }): Kinds[K] {
      objects.set(value.id, value as StoredObject);
      return value;
    },
    drop: (id: string) => objects.delete(id),
    markDeleted<K extends DeletableKind>(kind: K, id: string): Objects.Deleted<K> {
      const deleted: Objects.Deleted<K> = { id, object: kind, deleted: true };
      objects.set(id, deleted);
      return deleted;
    },
    /** All of a kind, oldest first. */
    all<K extends Kind>(kind: K): Kinds[K][] {
      const found: Kinds[K][] = [];
      for (const each of objects.values()) {
        if (each.object === kind && !('deleted' in each)) found.push(each as Kinds[K]);
      }
      return found;
    },
  };
}
