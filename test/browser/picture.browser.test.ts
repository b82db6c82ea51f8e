import type { Page } from 'playwright-core';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { jpegPicture } from '../support/pictures.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { submitSignIn } from './steps.ts';

describe('the profile picture in a browser', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  async function openPicture(page: Page): Promise<void> {
    const user = await sandbox.foyer.addUser();
    await page.goto(`${sandbox.foyer.url}/?redirect=/settings`);
    await submitSignIn(page, { email: user.email, password });
    await page.locator('.name-card a[href="/settings/picture"]').click();
    await page.getByRole('heading', { name: 'Profile picture' }).waitFor();
  }

  /** The picture of the name card, as the server sends it: width and height of a JPEG. */
  async function sizeOnHome(page: Page): Promise<number[]> {
    const src = await page.locator('.name-card .avatar img').getAttribute('src');
    const bytes = await (await page.request.get(src ?? '')).body();
    const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
    return [bytes.readUInt16BE(frame + 7), bytes.readUInt16BE(frame + 5)];
  }

  const choose = (page: Page, name: string, buffer: Buffer) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: 'image/jpeg', buffer });
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();

  it.each([true, false])('A member chooses, sees and removes a picture; JavaScript %s', async (javaScript) => {
    const page = await newPage({ javaScript });
    await openPicture(page);
    if (javaScript) expect(await axeFindings(page)).toEqual([]);
    await choose(page, 'a.jpg', jpegPicture);
    if (javaScript) await page.locator('.avatar canvas').waitFor();
    await save(page);
    await page.locator('.snackbar').waitFor();
    // Scripts cut the picture to a square.
    expect(await sizeOnHome(page)).toEqual(javaScript ? [16, 16] : [24, 16]);
    await page.locator('.name-card a[href="/settings/picture"]').click();
    await page.getByRole('button', { name: 'Remove picture' }).click();
    await page.locator('.snackbar').waitFor();
    expect(await page.locator('.avatar img').count()).toBe(0);
  });

  it('A photo of 4,000 × 3,000 pixels is sent as a square of 512 pixels', async () => {
    const page = await newPage();
    await openPicture(page);
    // Made in the page: the file is too large to travel there quickly.
    const bytes = await page.locator('input[type=file]').evaluate(async (input) => {
      if (!(input instanceof HTMLInputElement)) throw new Error('no input');
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [4_000, 3_000];
      const pen = canvas.getContext('2d');
      for (let n = 0; n < 40_000; n += 1) {
        if (pen) pen.fillStyle = `hsl(${(n * 137) % 360} 80% ${20 + (n % 60)}%)`;
        pen?.fillRect((n * 733) % 4_000, (n * 379) % 3_000, 21, 17);
      }
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 1));
      const files = new DataTransfer();
      files.items.add(new File([blob ?? ''], 'photo.jpg', { type: 'image/jpeg' }));
      input.files = files.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
      return blob?.size;
    });
    expect(bytes).toBeGreaterThan(1_000_000);
    await page.locator('.avatar canvas').waitFor();
    await save(page);
    await page.locator('.snackbar').waitFor();
    expect(await sizeOnHome(page)).toEqual([512, 512]);
  });

  it('A file that is no picture is refused with the reason at its field', async () => {
    const page = await newPage();
    await openPicture(page);
    await choose(page, 'p.jpg', Buffer.from('no picture'));
    await save(page);
    await page.locator('.field-error').waitFor();
    expect(await page.locator('input[type=file]').getAttribute('aria-invalid')).toBe('true');
    expect(await axeFindings(page)).toEqual([]);
  });
});
