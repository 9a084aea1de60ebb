#!/bin/sh
# From four public files to one dataset, its published folder and its methods section. Needs no annotator and no model.
# usage: DATA=FOLDER sh docs/examples/four_sources.sh
# DATA holds wikisplit/tune.tsv (WikiSplit), novels/*.txt (Project Gutenberg), stsb/stsb-en-train.csv (STS benchmark) and
# snli/snli-dev.tsv (SNLI).
set -e
# Choose 500 pairs from each with a strategy of the STR paper.
semblance sample_pairs $DATA/wikisplit/tune.tsv --no-header --text 1 --strategy overlap --count 500 --out wiki.csv
semblance sample_pairs $DATA/novels/ENG18900_Doyle.txt $DATA/novels/ENG18952_Wells.txt --documents --strategy percentiles --idf --growth 1.1 --count 500 --out novels.csv
semblance sample_pairs $DATA/stsb/stsb-en-train.csv --pairs --no-header --strategy score --bins 0,1,2,3,4,5 --count 500 --out sts.csv
semblance sample_pairs $DATA/snli/snli-dev.tsv --no-header --text 1 --strategy labels --shared-label 3 --label 3 --combinations 0-0,1-1,2-2 --count 500 --out snli.csv
# Bring them into one dataset: their origin is the source, the strategy the subset, scores become the score set reference.
semblance import_pairs wiki.csv --dataset composed --create
semblance import_pairs novels.csv --dataset composed
semblance import_pairs sts.csv --dataset composed --scale 0 5
semblance import_pairs snli.csv --dataset composed
# Find duplicates, and put pairs that share a sentence into one split.
semblance find_duplicates composed
semblance split_pairs composed --ratios train=.8,dev=.1,test=.1 --dry-run
semblance split_pairs composed --ratios train=.8,dev=.1,test=.1
# Publish.
semblance publish_dataset composed --new-snapshot --to composed-1 --author "First Author"
semblance bws verify composed-1
semblance methods_section composed
