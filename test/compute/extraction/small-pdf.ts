/** Writes PDFs for tests: pages of lines where a test wants them, and objects that no honest program would write. */
import { deflateSync } from 'node:zlib';

export interface SmallLine {
  text: string;
  x: number;
  y: number;
  size?: number;
  bold?: boolean;
}

export interface SmallPdf {
  pages: SmallLine[][];
  /** Entries of the information dictionary, as PDF source. */
  info?: string;
  rotate?: number;
}

/** A PDF of the objects given, the first of which is the catalog. */
export function pdfOf(objects: readonly (string | Buffer)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = parts[0].length;
  objects.forEach((object, at) => {
    offsets.push(length);
    const part = Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]);
    parts.push(part);
    length += part.length;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

export function streamOf(content: Buffer, dictionary = ''): Buffer {
  return Buffer.concat([
    Buffer.from(`<< /Length ${content.length} ${dictionary} >>\nstream\n`),
    content,
    Buffer.from('\nendstream'),
  ]);
}

const packedStream = (content: Buffer): Buffer => streamOf(deflateSync(content), '/Filter /FlateDecode');

const escaped = (text: string) => text.replace(/[\\()]/g, '\\$&');

export function smallPdf({ pages, info, rotate }: SmallPdf): Buffer {
  const first = 5;
  const kids = pages.map((_, at) => `${first + 2 * at} 0 R`).join(' ');
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >> >>',
    `<< ${info ?? ''} >>`,
  ];
  for (const [at, lines] of pages.entries()) {
    const content = lines
      .map(
        ({ text, x, y, size = 10, bold = false }) =>
          `BT /F${bold ? 2 : 1} ${size} Tf 1 0 0 1 ${x} ${y} Tm (${escaped(text)}) Tj ET`,
      )
      .join('\n');
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font 3 0 R >> /Contents ${first + 2 * at + 1} 0 R ${rotate === undefined ? '' : `/Rotate ${rotate}`} >>`,
      packedStream(Buffer.from(content, 'latin1')),
    );
  }
  return pdfOf(objects, info === undefined ? '' : '/Info 4 0 R');
}

/** One page whose content is given as a stream object. */
export function onePage(content: Buffer): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> /Contents 4 0 R >>',
    content,
  ]);
}
