# exit 2
ingot halo heet
