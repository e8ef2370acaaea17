import { PictureFault, type PictureBytes } from './picture-bytes.ts';

/** Width and height in pixels, as they are stored. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** One format of pictures: how it is told from others, and where it says how large it is. */
export interface PictureFormat {
  /** What people call it. */
  readonly name: string;
  /** Of a file's name, without the dot. */
  readonly extension: string;
  /** Whether bytes start as this format does. */
  readonly isStartOf: (bytes: PictureBytes) => boolean;
  /**
   * Walks the parts of the picture to its end, without decoding any, and gives its size.
   * Throws a {@link PictureFault} when they do not fit together. Takes time in proportion to
   * the number of bytes, whatever they hold.
   */
  readonly readSize: (bytes: PictureBytes) => PictureSize;
}

/** A size that can be; throws when there is nothing to see. */
export function pictureSize(width: number, height: number): PictureSize {
  if (width > 0 && height > 0) return { width, height };
  throw new PictureFault(`a size of ${String(width)} x ${String(height)} pixels`);
}

/** ASCII text as bytes. */
export const ascii = (text: string): readonly number[] => Array.from(text, (c) => c.charCodeAt(0));
