import { z } from 'zod';
import type { SamlProviderConfig } from '../../../config/providers.ts';
import type { Logger } from '../../http/index.ts';
import { dayMs, minuteMs, sha256 } from '../../shared/index.ts';
import { type KeyValueStore, type SecretBox, storedRecords } from '../../store/index.ts';
import { FederationError } from '../identity.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import { readCertificate } from './provider-metadata.ts';
import { readSignedMetadata } from './signed-metadata.ts';

/** Where the certificates of signed metadata are stored; commands use those of the file. */
export interface RollOverStore {
  kv: KeyValueStore;
  box: SecretBox;
  log: Logger;
}

interface RollOverSettings extends RollOverStore {
  now: () => number;
  answerMs: number | undefined;
}

/** The certificates of an identity provider that replaces them by itself. */
export interface CertificateRollOver {
  /** PEM: those that are valid now. The list stays the same until it changes. */
  inForce(): string[];
  /** Takes over what another process has found. */
  load(): Promise<void>;
  /**
   * Fetches the metadata, at most once in some minutes.
   * @param used the list by which an answer was refused
   * @returns whether another list is in force now
   */
  renew(used: readonly string[]): Promise<boolean>;
  /** Fetches the metadata once a day. */
  renewDaily(): Promise<void>;
}

const schema = z.object({
  certificates: z.array(z.string()).min(1),
  validUntilMs: z.number().optional(),
  fetchedAtMs: z.number(),
});
/** The last good metadata. */
type LastMetadata = z.infer<typeof schema>;

/** Between two fetches, in all processes together: an answer with any signature causes one. */
const pauseMs = 5 * minuteMs;
/** Between two looks at what other processes have found. */
const lookEveryMs = minuteMs;
/** Without an end in the metadata. */
const storedMs = 400 * dayMs;

type RolledConfig = Pick<
  SamlProviderConfig,
  'id' | 'entityId' | 'certificates' | 'metadataUrl' | 'metadataCertificate'
>;

/** Each certificate with its end; one that cannot be read has ended. */
const withEnds = (pems: readonly string[]): Map<string, number> =>
  new Map(pems.map((pem) => [pem, readCertificate(pem)?.validToDate.getTime() ?? 0]));

class StoredRollOver implements CertificateRollOver {
  readonly #config: RolledConfig;
  readonly #settings: RollOverSettings;
  /** A change of the entry voids what was found by the old one. */
  readonly #name: string;
  readonly #records: ReturnType<typeof storedRecords<LastMetadata>>;
  #last: LastMetadata | undefined;
  #ends: Map<string, number>;
  #list: string[];
  #loadedAtMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(config: RolledConfig, settings: RollOverSettings) {
    const { id, entityId, metadataUrl, metadataCertificate, certificates } = config;
    const { kv, box } = settings;
    this.#config = config;
    this.#settings = settings;
    this.#name = sha256(JSON.stringify([id, entityId, metadataUrl, metadataCertificate, certificates]));
    this.#records = storedRecords({ kv, kind: 'federation-metadata', schema, ttlMs: storedMs, seal: box });
    this.#ends = withEnds(certificates);
    this.#list = certificates;
  }

  inForce(): string[] {
    const nowMs = this.#settings.now();
    const hasEnded = this.#last?.validUntilMs !== undefined && this.#last.validUntilMs <= nowMs;
    const valid = hasEnded ? [] : [...this.#ends].filter(([, endMs]) => endMs > nowMs).map(([pem]) => pem);
    // The keys of a list are read once.
    if (valid.length !== this.#list.length || valid.some((pem, index) => pem !== this.#list[index])) this.#list = valid;
    return this.#list;
  }

  async load(): Promise<void> {
    if (Math.abs(this.#settings.now() - this.#loadedAtMs) >= lookEveryMs) await this.#look();
  }

  async renew(used: readonly string[]): Promise<boolean> {
    if (this.inForce() !== used) return true;
    if (await this.#settings.kv.setIfAbsent(`federation-metadata-asked:${this.#name}`, '1', pauseMs)) {
      this.#fetching = this.#tryFetch().finally(() => {
        this.#fetching = undefined;
      });
    }
    if (this.#fetching) await this.#fetching;
    else await this.#look();
    return this.inForce() !== used;
  }

  async renewDaily(): Promise<void> {
    await this.#look();
    const last = this.#last?.fetchedAtMs;
    if (last === undefined || Math.abs(this.#settings.now() - last) >= dayMs) await this.#tryFetch();
  }

  #take(found: LastMetadata): void {
    this.#last = found;
    this.#ends = withEnds(found.certificates);
  }

  async #look(): Promise<void> {
    const { now, log } = this.#settings;
    this.#loadedAtMs = now();
    const found = await this.#records.find(this.#name).catch((error: unknown) => {
      log.warn({ err: error, provider: this.#config.id }, 'the last metadata of a provider cannot be read');
      return undefined;
    });
    if (found && found.fetchedAtMs > (this.#last?.fetchedAtMs ?? 0)) this.#take(found);
  }

  /** A failure leaves the last good metadata in force. */
  async #tryFetch(): Promise<void> {
    try {
      await this.#fetch();
    } catch (error) {
      const why = error instanceof FederationError ? { detail: error.detail } : { err: error };
      const { log } = this.#settings;
      log.warn({ provider: this.#config.id, ...why }, 'metadata not taken over: the last certificates stay in force');
    }
  }

  async #fetch(): Promise<void> {
    const { id, entityId, metadataUrl = '', metadataCertificate } = this.#config;
    const { now, log, answerMs } = this.#settings;
    const { status, text } = await fetchLimited(metadataUrl, {}, answerMs);
    if (status !== 200) throw new FederationError('invalid', `the metadata answer ${status}`);
    const before = this.inForce();
    const nowMs = now();
    const { signing: certificates, validUntilMs } = readSignedMetadata(text, {
      entityId,
      anchors: metadataCertificate === undefined ? before : [metadataCertificate],
      lastEndMs: this.#last?.validUntilMs,
      nowMs,
    });
    const found = { certificates, fetchedAtMs: nowMs, ...(validUntilMs !== undefined && { validUntilMs }) };
    this.#take(found);
    await this.#records.write(this.#name, found);
    const fingerprints = certificates.map((pem) => readCertificate(pem)?.fingerprint256);
    if (this.inForce() !== before)
      log.info({ provider: id, fingerprints }, 'certificates taken over from signed metadata');
  }
}

export const createCertificateRollOver = (config: RolledConfig, settings: RollOverSettings): CertificateRollOver =>
  new StoredRollOver(config, settings);
