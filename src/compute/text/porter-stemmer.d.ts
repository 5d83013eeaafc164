/** The untyped part of wink-eng-lite-web-model 1.8.1. */
declare module 'wink-eng-lite-web-model/dist/porter-stemmer.js' {
  export default function stem(word: string): string;
}
