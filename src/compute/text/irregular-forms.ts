/** Irregular English forms, which no stemmer handles; not those that are often another word or name: `found`, `met`. */

/** Each base with its forms. */
const families = `
  ox oxen; child children; foot feet; tooth teeth; goose geese; mouse mice; louse lice; penny pence; man men; woman
  women; knife knives; wife wives; housewife housewives; midwife midwives; half halves; calf calves; wolf wolves;
  werewolf werewolves; thief thieves; loaf loaves; shelf shelves; bookshelf bookshelves; self selves; elf elves; scarf
  scarves; hoof hooves; sheaf sheaves; wharf wharves; dwarf dwarves; handkerchief handkerchieves; analysis analyses;
  crisis crises; thesis theses; hypothesis hypotheses; diagnosis diagnoses; prognosis prognoses; synthesis syntheses;
  parenthesis parentheses; oasis oases; neurosis neuroses; metamorphosis metamorphoses; criterion criteria; phenomenon
  phenomena; automaton automata; bacterium bacteria; memorandum memoranda; curriculum curricula; spectrum spectra;
  stratum strata; aquarium aquaria; ovum ova; erratum errata; addendum addenda; symposium symposia; nucleus nuclei;
  fungus fungi; cactus cacti; stimulus stimuli; alumnus alumni; radius radii; focus foci; locus loci; syllabus
  syllabi; bacillus bacilli; genus genera; corpus corpora; alga algae; larva larvae; vertebra vertebrae; formula
  formulae; antenna antennae; nebula nebulae; index indices; matrix matrices; vertex vertices; vortex vortices;
  appendix appendices; codex codices; tempo tempi; bureau bureaux; chateau chateaux; good better; far farther
  farthest; go went gone; come came; become became; overcome overcame; see seen; take took taken; mistake mistook
  mistaken; undertake undertook undertaken; give gave given; forgive forgave forgiven; write wrote written; rewrite
  rewrote rewritten; drive drove driven; ride rode ridden; rise risen; arise arose arisen; eat ate eaten; fall fell
  fallen; beat beaten; bite bitten; hide hid hidden; speak spoken; break broke broken; steal stole stolen; choose
  chose chosen; freeze froze frozen; weave wove woven; wake woke woken; awake awoke awoken; tear tore torn; wear wore
  worn; swear swore sworn; bear borne; forget forgot forgotten; get got gotten; know knew known; grow grew grown;
  throw threw thrown; blow blew blown; fly flew flown; draw drew drawn; withdraw withdrew withdrawn; show shown; sing
  sang sung; ring rang; spring sprang sprung; swim swam swum; begin began begun; drink drank drunk; sink sank sunk;
  shrink shrank shrunk; run ran; win won; swing swung; sting stung; cling clung; fling flung; hang hung; dig dug;
  stick stuck; strike struck stricken; bring brought; buy bought; think thought; catch caught; teach taught; seek
  sought; fight fought; tell told; sell sold; hold held; keep kept; sleep slept; sweep swept; weep wept; creep crept;
  leap leapt; dream dreamt; mean meant; deal dealt; kneel knelt; build built; rebuild rebuilt; send sent; spend spent;
  bend bent; lose lost; stand stood; understand understood; spit spat; bleed bled; breed bred; flee fled; slide slid;
  make made; say said; pay paid; hear heard; learn learnt; burn burnt; spell spelt; spoil spoilt; shake shook shaken;
  forsake forsook forsaken; forbid forbade forbidden; bid bade bidden; sew sewn; sow sown; mow mown; saw sawn; prove
  proven; swell swollen; slay slew slain; lie lain; tread trod trodden; strive strove striven; shine shone`;

const bases: ReadonlyMap<string, string> = new Map(
  families
    .split(';')
    .map((family) => family.trim().split(/\s+/))
    .flatMap(([base, ...forms]) => forms.map((form) => [form, base] as const)),
);

/** The base of an irregular form; other words are their own. */
export function baseOf(word: string): string {
  return bases.get(word) ?? word;
}

export function irregularForms(): ReadonlyMap<string, string> {
  return bases;
}
