import type { Adapter, AdapterPayload } from 'oidc-provider';

/** The minimum of the library's storage contract, in one Map: nothing is sealed or survives a restart. */
export class MapAdapter implements Adapter {
  static readonly #entries = new Map<string, { payload: AdapterPayload; expiresAtMs: number }>();
  static readonly #children = new Map<string, string[]>();
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  #key(id: string): string {
    return `${this.#model}:${id}`;
  }

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
    const key = this.#key(id);
    const { grantId, uid } = payload;
    if (grantId !== undefined) {
      const siblings = MapAdapter.#children.get(grantId);
      if (siblings) siblings.push(key);
      else MapAdapter.#children.set(grantId, [key]);
    }
    const entry = { payload, expiresAtMs: Date.now() + expiresInSeconds * 1000 };
    if (this.#model === 'Session' && uid !== undefined) MapAdapter.#entries.set(`uid:${uid}`, entry);
    MapAdapter.#entries.set(key, entry);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const entry = MapAdapter.#entries.get(this.#key(id));
    return entry && entry.expiresAtMs > Date.now() ? entry.payload : undefined;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return MapAdapter.#entries.get(`uid:${uid}`)?.payload;
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async consume(id: string): Promise<void> {
    const entry = MapAdapter.#entries.get(this.#key(id));
    if (entry) entry.payload.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    MapAdapter.#entries.delete(this.#key(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const key of MapAdapter.#children.get(grantId) ?? []) MapAdapter.#entries.delete(key);
    MapAdapter.#children.delete(grantId);
  }
}
