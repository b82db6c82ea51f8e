import { createDecipheriv, hkdfSync } from 'node:crypto';
import { createSecretBox } from '../../server/store/index.ts';

describe('the format of sealed data', () => {
  it('Node’s own functions open sealed data, as docs/decisions/0016 describes it', () => {
    const secretKey = 'a secret key of forty characters, or more';
    const [plain, aad, purpose] = ['Grüße, 你好', 'users.phone:7', 'a purpose'];
    const sealed = createSecretBox([secretKey], purpose).seal(plain, aad);
    const derive = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', secretKey, 'foyer', info, bytes));
    const [id = '', rest = ''] = sealed.split('.');
    expect(id).toBe(derive(`key id of ${purpose}`, 6).toString('base64url'));
    const bytes = Buffer.from(rest, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', derive(`seal ${purpose}`, 32), bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from(aad));
    decipher.setAuthTag(bytes.subarray(-16));
    const opened = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
    expect(opened.toString('utf8')).toBe(plain);
  });
});
