import type { PageContext } from '../page-context.ts';
import { Stylesheet } from './stylesheet.tsx';

/** The code of a device, `BCDF-GHJK`: large, and a cell for each character (device.css), to be compared one by one. */
export function DeviceCode({ ctx, code }: { ctx: PageContext; code: string }) {
  return (
    <>
      <Stylesheet ctx={ctx} name="device" />
      <code className="device-code">{code}</code>
    </>
  );
}
