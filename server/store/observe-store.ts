import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import { type KeyValueStore, StoreUnavailable } from './key-value.ts';
import type { RedisClient } from './redis-client.ts';

/** Called for every operation: its kind (bounded: never a key or a table), duration and result. */
export type StoreObserver = (operation: string, durationMs: number, outcome: 'answered' | 'away' | 'refused') => void;

async function observed<T>(observe: StoreObserver, operation: string, run: () => Promise<T>): Promise<T> {
  const beganMs = performance.now();
  try {
    const result = await run();
    observe(operation, performance.now() - beganMs, 'answered');
    return result;
  } catch (error) {
    observe(operation, performance.now() - beganMs, error instanceof StoreUnavailable ? 'away' : 'refused');
    throw error;
  }
}

/** The same store with an observer of its operations. */
export function observeKeyValue(kv: KeyValueStore, observe: StoreObserver): KeyValueStore {
  const watched =
    <A extends unknown[], T>(operation: string, run: (...args: A) => Promise<T>) =>
    (...args: A) =>
      observed(observe, operation, () => run(...args));
  return {
    kind: kv.kind,
    redis: kv.redis && observeRedisClient(kv.redis, observe),
    get: watched('get', kv.get),
    set: watched('set', kv.set),
    setIfAbsent: watched('setIfAbsent', kv.setIfAbsent),
    update: watched('update', kv.update),
    takeOnce: watched('take', kv.takeOnce),
    consume: watched('consume', kv.consume),
    getConsumable: watched('getConsumable', kv.getConsumable),
    delete: watched('delete', kv.delete),
    compareAndDelete: watched('compareAndDelete', kv.compareAndDelete),
    expire: watched('expire', kv.expire),
    consumeCount: watched('increment', kv.consumeCount),
    count: watched('count', kv.count),
    addToSet: watched('addToSet', kv.addToSet),
    setMembers: watched('setMembers', kv.setMembers),
    removeFromSet: watched('removeFromSet', kv.removeFromSet),
    ping: watched('ping', kv.ping),
    close: kv.close,
  };
}

/** Under the names of the key-value store's operations, so that sessions count in the same metrics. */
function observeRedisClient(redis: RedisClient, observe: StoreObserver): RedisClient {
  return {
    get: (key) => observed(observe, 'get', () => redis.get(key)),
    set: (key, value, ...options) =>
      observed(observe, options[0] === 'PX' ? 'set' : 'update', () => redis.set(key, value, ...options)),
    del: (...keys) => observed(observe, 'delete', () => redis.del(...keys)),
    pexpire: (key, ttlMs) => observed(observe, 'expire', () => redis.pexpire(key, ttlMs)),
  };
}

/** `SelectQueryNode` is a select. */
const queryKind = ({ query }: CompiledQuery) => query.kind.replace(/(Query)?Node$/, '').toLowerCase();

/** The same dialect with an observer of its statements and of the waits for a connection. */
export function observeDialect(dialect: Dialect, observe: StoreObserver): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => observeDriver(dialect.createDriver(), observe),
  };
}

function observeDriver(driver: Driver, observe: StoreObserver): Driver {
  // Kysely recognizes connections by identity, so the connection itself is changed, once.
  const changed = new WeakSet<DatabaseConnection>();
  const acquire = driver.acquireConnection.bind(driver);
  const begin = driver.beginTransaction.bind(driver);
  const commit = driver.commitTransaction.bind(driver);
  driver.acquireConnection = async (...args) => {
    const connection = await observed(observe, 'connect', () => acquire(...args));
    if (!changed.has(connection)) {
      changed.add(connection);
      const execute = connection.executeQuery.bind(connection);
      connection.executeQuery = <R>(query: CompiledQuery, ...rest: unknown[]): Promise<QueryResult<R>> =>
        observed(observe, queryKind(query), () => Reflect.apply(execute, connection, [query, ...rest]));
    }
    return connection;
  };
  driver.beginTransaction = (...args) => observed(observe, 'begin', () => begin(...args));
  driver.commitTransaction = (...args) => observed(observe, 'commit', () => commit(...args));
  return driver;
}
