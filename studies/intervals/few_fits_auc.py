"""Coverage and width of the U-statistic test of the AUC from few fits.

Problems, samples and true values are those of the calibration study with as many of each class as
the population has; the rule for few fits was chosen without them. All else is as in `few_fits`.
Widths are next to those of the corrected t test on ten repeated splits and of the full test.
"""

from studies.intervals.few_fits import FewFits

FEW_FITS_AUC = FewFits(
    script=__file__,
    chosen=lambda problem: problem.auc,
    losses=lambda run: run.pairs_within_classes,
    full="ustatistic_auc",
    usual=("width_corrected_t", "corrected_t_auc"),
    within_classes=True,
)

if __name__ == "__main__":
    FEW_FITS_AUC.study().main()
