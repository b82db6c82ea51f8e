import Bowser from 'bowser';
import type { T } from '../../locales/index.ts';

/** Longer than the User-Agent of any browser. */
const maxCharacters = 512;
const browsers: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const systems: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/**
 * A readable name of a browser: `Chrome on Windows`. Anyone can send any User-Agent, so only known names are shown;
 * browsers do not send exact versions and models.
 */
export function deviceName(t: T, userAgent: string | undefined): string {
  const agent = (userAgent ?? '').slice(0, maxCharacters);
  if (agent.trim() === '') return t('mail.newDevice.unknownDevice');
  const parser = Bowser.getParser(agent);
  const browser = parser.getBrowserName();
  const system = parser.getOSName();
  if (browsers.has(browser) && systems.has(system)) return t('mail.newDevice.deviceName', { browser, system });
  if (browsers.has(browser)) return browser;
  return systems.has(system) ? system : t('mail.newDevice.unknownDevice');
}
