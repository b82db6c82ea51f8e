import type { SamlProviderConfig } from '../../../config/providers.ts';
import { hourMs, minuteMs } from '../../shared/index.ts';
import { FederationError } from '../identity.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import type { StrategySettings } from '../providers.ts';
import { parseMetadataXml, readProviderMetadata } from './provider-metadata.ts';
import { readSignedMetadata } from './signed-metadata.ts';

/** Whether Foyer signs its requests to one identity provider. */
export interface RequestSigning {
  /** The setting, else the last known wish of the provider. */
  isOn(): boolean;
  /** Reads the wish, if the setting leaves it open. The first caller waits for it. */
  load(): Promise<void>;
}

type SigningConfig = Pick<
  SamlProviderConfig,
  'id' | 'entityId' | 'signRequests' | 'certificates' | 'metadataUrl' | 'metadataRefresh' | 'metadataCertificate'
>;
type SigningSettings = Pick<StrategySettings, 'file' | 'now' | 'answerMs' | 'rollOver'>;

/** As long as a discovery document of OpenID Connect. */
const knownMs = hourMs;
/** After metadata that could not be read. */
const pauseMs = 5 * minuteMs;
/** A sign-in waits no longer for the metadata. */
const maxWaitMs = 3_000;

const fixed = (isOn: boolean): RequestSigning => ({ isOn: () => isOn, load: async () => {} });

/**
 * `signRequests`, and without it `WantAuthnRequestsSigned` of the metadata (SAML 2.0 Metadata, section 2.4.3). Where
 * `metadataRefresh` does not demand a signature, the metadata need none for this: a forged wish can only make Foyer sign
 * more, or have the provider refuse its requests.
 */
export function createRequestSigning(config: SigningConfig, settings: SigningSettings): RequestSigning {
  const { signRequests, metadataUrl } = config;
  // Commands make no requests to the provider.
  const log = settings.rollOver?.log;
  if (signRequests !== undefined) return fixed(signRequests);
  if (metadataUrl === undefined || settings.file.serviceProvider === undefined || !log) return fixed(false);
  const { now, answerMs = maxWaitMs } = settings;
  let isOn = false;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    try {
      const { status, text } = await fetchLimited(metadataUrl ?? '', {}, Math.min(answerMs, maxWaitMs));
      if (status !== 200) throw new FederationError('invalid', `the metadata answer ${status}`);
      isOn = readWish(text, config, now());
      nextAtMs = now() + knownMs;
    } catch (error) {
      nextAtMs = now() + pauseMs;
      const why = error instanceof FederationError ? { detail: error.detail } : { err: error };
      log?.warn({ provider: config.id, ...why }, 'metadata not read: whether it wants signed requests stays as it was');
    }
  }

  return {
    isOn: () => isOn,
    async load() {
      if (now() < nextAtMs) return;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
  };
}

/** @throws {FederationError} invalid */
function readWish(text: string, config: SigningConfig, nowMs: number): boolean {
  const { entityId, metadataRefresh, metadataCertificate: anchor, certificates } = config;
  if (metadataRefresh !== undefined) {
    const anchors = anchor === undefined ? certificates : [anchor];
    return readSignedMetadata(text, { entityId, anchors, nowMs }).wantsSignedRequests;
  }
  const metadata = readProviderMetadata(parseMetadataXml(text), entityId);
  if (metadata.entityId !== entityId) throw new FederationError('invalid', 'the metadata are of another entityID');
  return metadata.wantsSignedRequests;
}
