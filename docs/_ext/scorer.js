// The order of search results: pages for users come before pages about the project.
// docs/check_search.py reads PLACES.
const PLACES = {
  "start/": 4,
  "choose/": 4,
  "tutorials/": 4,
  "methods/": 3,
  "glossary": 2,
  "r/help/": -2,
  "validation/": -2,
  "develop/": -6,
  "changelog": -6
};

var Scorer = {
  score: ([page, _title, _anchor, _descr, score, _file, kind]) => {
    if (kind === "object") return score;
    const place = Object.keys(PLACES).find((each) => page.startsWith(each));
    return place === undefined ? score : score + PLACES[place];
  },

  // These are the values of Sphinx.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
