/** PDFs that are made to take long, take much, or go round in circles, each with the reason that its page is to end with. */
import { constants, deflateSync } from 'node:zlib';
import { onePage, pdfOf, streamOf } from './small-pdf.ts';

const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>';

/** Zeros that pack a thousandfold, packed again. */
function bomb(bytes: number): Buffer {
  return deflateSync(Buffer.alloc(bytes, ' '), { level: constants.Z_BEST_COMPRESSION });
}

export const hostilePdfs: Record<string, { bytes: () => Buffer; reason: RegExp }> = {
  'a flate bomb': {
    bytes: () => onePage(streamOf(bomb(100_000_000), '/Filter /FlateDecode')),
    reason: /^the PDF is too large: it unpacks to too many bytes$/,
  },
  'a flate bomb in a flate bomb': {
    bytes: () => onePage(streamOf(deflateSync(bomb(100_000_000)), '/Filter [/FlateDecode /FlateDecode]')),
    reason: /^the PDF is too large: it unpacks to too many bytes$/,
  },
  'pages that are their own children': {
    bytes: () => pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 3 /Kids [2 0 R 2 0 R 2 0 R] >>']),
    reason: /^the PDF (?:is broken|has no text: its pages may be pictures)$/,
  },
  'a root that is a reference to itself': {
    bytes: () => pdfOf(['1 0 R', page]),
    reason: /^the PDF is broken$/,
  },
  'a form that draws itself': {
    bytes: () =>
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /X 4 0 R >> >> /Contents 5 0 R >>',
        streamOf(
          Buffer.from('/X Do /X Do'),
          '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>',
        ),
        streamOf(Buffer.from('/X Do')),
      ]),
    reason: /^the PDF (?:has no text: its pages may be pictures|took longer than \d+ s to read|is broken)$/,
  },
  '100,000 pages': {
    bytes: () =>
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        `<< /Type /Pages /Count 100000 /Kids [${'3 0 R '.repeat(100_000)}] >>`,
        page,
      ]),
    reason: /^the PDF is too large: it has over 5000 pages$/,
  },
  'brackets 500,000 deep': {
    bytes: () => onePage(streamOf(Buffer.from('['.repeat(500_000)))),
    reason: /^the PDF (?:has no text: its pages may be pictures|is broken|is too large: .*)$/,
  },
  'nothing but its mark': { bytes: () => Buffer.from('%PDF-1.7\n%%EOF'), reason: /^the PDF is broken$/ },
  'a PDF cut in half': {
    bytes: () => Buffer.from('%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R'),
    reason: /^the PDF is broken$/,
  },
};

/** Ten million letters in two kilobytes: forms that draw ten others each, seven deep. Reading them takes minutes and little memory. */
export function endlessPdf(): Buffer {
  const depth = 7;
  const firstForm = 6;
  const form = (content: string, resources: string) =>
    streamOf(Buffer.from(content), `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${resources} >>`);
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /X ${firstForm} 0 R >> >> /Contents 5 0 R >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    streamOf(Buffer.from('/X Do')),
    ...Array.from({ length: depth }, (_, level) =>
      form('/X Do '.repeat(10), `/XObject << /X ${firstForm + level + 1} 0 R >>`),
    ),
    form('BT /F 9 Tf (a) Tj ET', '/Font << /F 4 0 R >>'),
  ]);
}
