/**
 * Scales a chosen picture down to a square of 512 pixels before it is sent, and shows it: photos of phones are larger
 * than what the server takes. If the browser cannot, the file is sent as it is.
 */
const side = 512;

async function scale(file: File): Promise<{ file: File; canvas: HTMLCanvasElement }> {
  const picture = await createImageBitmap(file);
  const cut = Math.min(picture.width, picture.height);
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = Math.min(side, cut);
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('no canvas');
  pen.imageSmoothingQuality = 'high';
  const [left, top] = [(picture.width - cut) / 2, (picture.height - cut) / 2];
  pen.drawImage(picture, left, top, cut, cut, 0, 0, canvas.width, canvas.height);
  picture.close();
  // PNG and WebP may be transparent; browsers without WebP write PNG.
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/webp';
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.86));
  if (!blob) throw new Error('no picture');
  return { file: new File([blob], 'picture', { type: blob.type }), canvas };
}

const input = document.querySelector<HTMLInputElement>('input[data-scaled]');
input?.addEventListener('change', async () => {
  const chosen = input.files?.[0];
  if (!chosen) return;
  try {
    const { file, canvas } = await scale(chosen);
    // Another one was chosen meanwhile.
    if (input.files?.[0] !== chosen) return;
    const files = new DataTransfer();
    files.items.add(file);
    input.files = files.files;
    const avatar = input.closest('form')?.querySelector('.avatar');
    avatar?.querySelector('img, canvas')?.remove();
    avatar?.append(canvas);
  } catch {
    // The server says what is wrong with it.
  }
});

export {};
